import { expect, test } from "vitest";
import {
  type CallAttempt,
  CallAttempts,
  MAX_ATTEMPT_ERROR_LENGTH,
  MAX_CALL_ATTEMPTS,
  withCallAttempt,
} from "#server/shared/call-attempts.ts";

const made = (error: string | null = "busy"): CallAttempt => ({ started_at: "2026-11-29T10:00:00.000Z", duration_ms: 1, error });
const same = (text: string) => text;

test("reports nothing for a call that is made once", () => {
  const reported: CallAttempt[] = [];
  const attempts = new CallAttempts((attempt) => reported.push(attempt));

  attempts.end(null);

  expect(reported).toEqual([]);
});

test("reports every try of a call that is repeated", () => {
  let now = 0;
  const reported: CallAttempt[] = [];
  const attempts = new CallAttempts(
    (attempt) => reported.push(attempt),
    () => now,
  );

  now = 5;
  attempts.repeat("busy");
  now = 1000;
  attempts.start();
  now = 1007;
  attempts.end(null);

  expect(reported).toEqual([
    { started_at: "1970-01-01T00:00:00.000Z", duration_ms: 5, error: "busy" },
    { started_at: "1970-01-01T00:00:01.000Z", duration_ms: 7, error: null },
  ]);
});

test("bounds the number of tries that are kept", () => {
  let kept: CallAttempt[] = [];

  for (let count = 0; count < MAX_CALL_ATTEMPTS + 5; count++) kept = withCallAttempt(kept, made(), same);

  expect(kept).toHaveLength(MAX_CALL_ATTEMPTS);
});

test("masks an error before it is shortened", () => {
  const text = `${"x".repeat(MAX_ATTEMPT_ERROR_LENGTH - 4)}secret`;

  const [kept] = withCallAttempt([], made(text), (whole) => whole.replace("secret", "••••"));

  expect(kept?.error?.length).toBeLessThanOrEqual(MAX_ATTEMPT_ERROR_LENGTH);
  expect(kept?.error).not.toContain("sec");
});
