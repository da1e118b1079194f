"""A window that shows a state; the only part of rendering that needs pygame."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from stonezoo.render.drawable import Drawable
from stonezoo.render.raster import to_rgb_array
from stonezoo.render.scene import build_scene

RENDER_FPS = 4
"""The default rate, in states a second, at which a window shows states."""


class Window:
    """A window on a state, opened by the first `show`.

    When the user closes it, further calls of `show` do nothing until `close` is called.

    Args:
        height: the height of the picture in pixels.
        render_fps: the most states shown in a second; `show` waits as long as needed.

    Raises:
        ValueError: `render_fps` is not positive.
    """

    def __init__(self, height: int = 480, render_fps: float = RENDER_FPS) -> None:
        if render_fps <= 0:
            raise ValueError(f"render_fps={render_fps} must be positive")
        self.height = height
        self.render_fps = render_fps
        self.closed_by_user = False
        self._pygame: ModuleType | None = None
        self._surface: Any = None
        self._clock: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the window is on the screen."""
        return self._surface is not None

    def show(self, state: Drawable) -> None:
        """Draws a state, answers the window's events and waits for the next tick of the clock.

        Raises:
            ImportError: pygame is not installed; the message names the extra that brings it.
        """
        if self.closed_by_user:
            return
        pygame = self._pygame = self._pygame or _import_pygame()
        image = to_rgb_array(state, self.height)
        size = (image.shape[1], image.shape[0])
        if not pygame.display.get_init():
            pygame.display.init()
        # Pygame has one window: another owner may have closed or resized it.
        if (
            self._surface is None
            or pygame.display.get_surface() is not self._surface
            or self._surface.get_size() != size
        ):
            self._surface = pygame.display.set_mode(size)
        self._clock = self._clock or pygame.time.Clock()
        pygame.display.set_caption(build_scene(state).title)
        self._surface.blit(pygame.image.frombuffer(image.tobytes(), size, "RGB"), (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self.closed_by_user = True
            return
        self._clock.tick(self.render_fps)

    def close(self) -> None:
        """Closes the window; safe to call twice, or without a window. A later `show` opens a new one."""
        self.closed_by_user = False
        if self._pygame is not None and self._surface is not None:
            if self._pygame.display.get_init() and self._pygame.display.get_surface() is self._surface:
                self._pygame.display.quit()
            self._surface = None
            self._clock = None


def _import_pygame() -> ModuleType:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise ImportError("a window needs pygame-ce: pip install stonezoo[render]") from error
    return pygame
