"use client";

import { useEffect, useState } from "react";

/** Words of expressions that were asked for; null for one that cannot be read. */
const known = new Map<string, string | null>();

async function wordsOf(expression: string): Promise<string | null> {
  // Loaded with the first schedule that is shown: most workflows have none.
  const cronstrue = (await import("cronstrue")).default;
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true, throwExceptionOnParseError: true });
  } catch {
    return null;
  }
}

/** `0 9 * * 1-5` → `At 09:00, Monday through Friday`; undefined while it is looked up, null when it cannot be read. */
function useCronWords(expression: string): string | null | undefined {
  const [words, setWords] = useState(() => known.get(expression));
  useEffect(() => {
    let isCurrent = true;
    const show = (text: string | null) => isCurrent && setWords(text);
    const text = known.get(expression);
    if (text !== undefined) show(text);
    else
      void wordsOf(expression).then(
        (found) => {
          known.set(expression, found);
          show(found);
        },
        () => show(null),
      );
    return () => {
      isCurrent = false;
    };
  }, [expression]);
  return words;
}

/** A schedule as words inside a sentence, or as one; the expression itself while they are looked up, or when it has none. */
export function CronWords({ expression, isSentence = false }: { expression: string; isSentence?: boolean }) {
  const words = useCronWords(expression);
  if (!words) return expression;
  return isSentence ? words : words.charAt(0).toLowerCase() + words.slice(1);
}
