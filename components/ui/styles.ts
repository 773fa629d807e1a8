/** Look of everything that text goes into. */
export const controlStyle =
  "w-full min-w-0 rounded-md border border-line-control bg-raised text-14 text-ink transition-[border-color,box-shadow] hover:border-ink-faint focus:border-thread focus:outline-2 focus:outline-thread/35 focus:outline-offset-0 aria-invalid:border-failed aria-invalid:focus:outline-failed/35 disabled:cursor-not-allowed disabled:border-line disabled:bg-sunken disabled:text-ink-faint pointer-coarse:text-16";

/** A button that shows what is chosen in the menu behind it. */
export const menuFieldStyle = `${controlStyle} flex h-8 items-center justify-between gap-2 pr-2 pl-2.5 text-left pointer-coarse:h-11`;

/** Gives a link between other things the room that a thumb needs, without taking it from them. */
export const thumbRoom =
  "relative pointer-coarse:before:absolute pointer-coarse:before:top-1/2 pointer-coarse:before:left-1/2 pointer-coarse:before:size-full pointer-coarse:before:min-h-11 pointer-coarse:before:min-w-11 pointer-coarse:before:-translate-1/2";

/** A floating surface: menus, lists, popovers. */
export const surfaceStyle = "z-50 overflow-hidden rounded-lg border border-line-strong bg-raised text-14 text-ink shadow-md animate-rise";

/** A row in a menu or list. */
export const itemStyle =
  "relative flex min-h-7 select-none items-center gap-2 rounded-md px-2 outline-none data-[highlighted]:bg-hover data-[disabled]:pointer-events-none data-[disabled]:opacity-50 pointer-coarse:min-h-11 [&>svg]:size-3.5 [&>svg]:shrink-0 [&>svg]:text-ink-faint";
