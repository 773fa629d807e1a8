/** Bounds of a number that a field takes. */
export interface NumberBounds {
  min: number | undefined;
  max: number | undefined;
  isInteger: boolean;
}

/** Says what a typed text must be to be a number within bounds; undefined for one that is. */
export function numberFault(text: string, { min, max, isInteger }: NumberBounds): string | undefined {
  const number = Number(text);
  const isNumber = text.trim() !== "" && Number.isFinite(number) && (!isInteger || Number.isInteger(number));
  if (isNumber && number >= (min ?? -Infinity) && number <= (max ?? Infinity)) return undefined;
  const shown = (bound: number) => bound.toLocaleString("en", { maximumFractionDigits: 6 });
  const range =
    min !== undefined && max !== undefined && Number.isFinite(max)
      ? ` from ${shown(min)} to ${shown(max)}`
      : min !== undefined
        ? ` of at least ${shown(min)}`
        : max !== undefined && Number.isFinite(max)
          ? ` of at most ${shown(max)}`
          : "";
  return `Enter a ${isInteger ? "whole number" : "number"}${range}. The last valid value is kept.`;
}

/** Text of a number field while it differs from the value. */
export interface TypedNumber {
  text: string;
  /** Value before the typing began. */
  before: number | undefined;
  /** Value that the text led to: its number, or `before` while it is none that fits. */
  saved: number | undefined;
}

/** Takes over what is typed. Of 31 where 28 is the maximum, the 3 on the way is given up again for the value before it. */
export function typeNumber(text: string, before: number | undefined, isValid: boolean): TypedNumber {
  if (!isValid) return { text, before, saved: before };
  return { text, before, saved: text === "" ? undefined : Number(text) };
}
