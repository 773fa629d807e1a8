import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";

/** The scopes of a key with what each is good for, for choices. */
export const scopeOptions: readonly { value: KeyScope; label: string; hint: string }[] = [
  { value: "read", label: "Read", hint: "Lists, runs and their results" },
  {
    value: "run",
    label: "Run",
    hint: "Start, cancel and repeat runs, ask agents; with Read, also decide reviews. Without Read: only runs that this key started",
  },
  { value: "write", label: "Write", hint: "Everything else: build, change and delete, members and secrets too" },
];
