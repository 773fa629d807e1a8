/** Whether nothing has the focus, since what had it is gone. */
export const isFocusLost = (): boolean => document.activeElement === document.body || document.activeElement === null;

/** For how many frames something may take to be there: it is drawn, perhaps loaded, first. */
export const MAX_FRAMES = 120;

/**
 * Focuses what is there now or soon: in a tab that is about to be shown, or disabled until its choices are loaded. Gives way
 * as soon as somebody goes elsewhere.
 */
export function focusWhenMounted(find: () => HTMLElement | null | undefined, block: ScrollLogicalPosition): void {
  const from = document.activeElement;
  let tries = MAX_FRAMES;
  const attempt = () => {
    if (document.activeElement !== from && !isFocusLost()) return;
    const element = find();
    element?.focus({ preventScroll: true });
    if (element && document.activeElement === element) element.scrollIntoView({ block });
    else if (tries-- > 0) requestAnimationFrame(attempt);
  };
  attempt();
}

/**
 * For `onCloseAutoFocus` of what lies over the page: whoever has gone on elsewhere by then stays there. Radix gives the focus back
 * in a task of its own, and on a busy machine a click or a key comes before it.
 */
export function stayWhereFocusIs(event: Event): void {
  if (!isFocusLost()) event.preventDefault();
}
