import sys

import pytest

from stonezoo.render import Window, to_rgb_array
from tests.stonezoo.render.fakes import points_state, squares_state

pygame = pytest.importorskip("pygame")


@pytest.fixture(autouse=True)
def dummy_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_window_shows_the_rgb_array() -> None:
    window = Window(height=120, render_fps=1000)
    window.show(points_state())
    surface = pygame.display.get_surface()
    image = to_rgb_array(points_state(), 120)
    assert surface.get_size() == (image.shape[1], 120)
    for row, column in ((5, 5), (60, 60), (80, 40)):
        assert tuple(surface.get_at((column, row)))[:3] == tuple(image[row, column])
    assert pygame.display.get_caption()[0] == "Crossings: Black to swap"
    window.close()


def test_a_window_can_be_closed_twice_or_unopened_and_opened_again() -> None:
    window = Window(height=120, render_fps=1000)
    window.close()
    window.show(points_state())
    assert window.is_open
    window.close()
    window.close()
    assert not window.is_open
    assert not pygame.display.get_init()
    window.show(squares_state())
    assert window.is_open
    window.close()


def test_closing_the_window_by_hand_stops_it_until_close_is_called() -> None:
    window = Window(height=120, render_fps=1000)
    window.show(points_state())
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(points_state())
    assert window.closed_by_user
    assert not window.is_open
    window.show(points_state())
    assert not window.is_open
    window.close()
    window.show(points_state())
    assert window.is_open
    window.close()


def test_a_window_outlives_another_owner_of_the_display() -> None:
    first, second = Window(height=120, render_fps=1000), Window(height=140, render_fps=1000)
    first.show(points_state())
    second.show(points_state())
    first.close()
    assert second.is_open
    first.show(points_state())
    pygame.display.quit()
    first.show(points_state())
    assert first.is_open
    first.close()
    second.close()


def test_a_window_keeps_its_rate() -> None:
    window = Window(height=60, render_fps=20)
    for _ in range(2):
        window.show(points_state())
    start = pygame.time.get_ticks()
    window.show(points_state())
    window.show(points_state())
    assert pygame.time.get_ticks() - start >= 80
    window.close()


def test_without_pygame_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"pip install stonezoo\[render\]"):
        Window().show(points_state())


def test_a_rate_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="render_fps=0"):
        Window(render_fps=0)
