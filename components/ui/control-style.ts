/** Look of everything that text goes into. */
export const controlStyle =
  "w-full min-w-0 rounded-md border border-line-control bg-raised text-13 text-ink transition-[border-color,box-shadow] hover:border-ink-faint focus:border-thread focus:outline-2 focus:outline-thread/35 focus:outline-offset-0 aria-invalid:border-failed aria-invalid:focus:outline-failed/35 disabled:cursor-not-allowed disabled:border-line disabled:bg-sunken disabled:text-ink-faint pointer-coarse:text-16";
