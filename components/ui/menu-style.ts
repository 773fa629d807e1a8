/** A floating surface: menus, lists, popovers. */
export const surfaceStyle = "z-50 overflow-hidden rounded-lg border border-line-strong bg-raised text-13 text-ink shadow-md animate-rise";

/** A row in a menu or list. */
export const itemStyle =
  "relative flex min-h-7 select-none items-center gap-2 rounded-md px-2 outline-none data-[highlighted]:bg-hover data-[disabled]:pointer-events-none data-[disabled]:opacity-50 pointer-coarse:min-h-10 [&>svg]:size-3.5 [&>svg]:shrink-0 [&>svg]:text-ink-faint";
