import { expect, test } from "vitest";
import { z } from "zod";
import { AppError, errorBody } from "#server/platform/errors.ts";
import { fieldErrors } from "#server/platform/rpc/trpc.ts";
import { ErrorBody, MAX_DETAIL_LENGTH, MAX_FIELD_ERRORS } from "#server/shared/error-schema.ts";

const Input = z.strictObject({ name: z.string(), labels: z.record(z.string(), z.string()).optional() });
const objectOf = (keys: number, value: unknown) => Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, value]));

test("keeps at most 50 unknown keys of an object", () => {
  const { error } = Input.safeParse({ name: "a", ...objectOf(10_000, 1) });

  expect(error?.message.length).toBeLessThan(5000);
  expect(error && fieldErrors(error)).toHaveLength(MAX_FIELD_ERRORS);
});

test("lists at most 50 issues", () => {
  const { error } = Input.safeParse({ name: "a", labels: objectOf(10_000, 1) });

  expect(error && fieldErrors(error)).toHaveLength(MAX_FIELD_ERRORS);
});

test("names each unknown key", () => {
  const { error } = Input.safeParse({ name: "a", nmae: "b", "": 1 });

  expect(error && fieldErrors(error)).toEqual([
    { path: "nmae", message: "There is no such field." },
    { path: "", message: "There is no such field." },
  ]);
});

test("bounds every text of an error response", () => {
  const long = "x".repeat(100_000);
  const errors = Array.from({ length: 60 }, () => ({ path: long, message: long }));

  const body = errorBody(new AppError("VALIDATION_ERROR", long, { errors }));

  expect(ErrorBody.parse(body).errors).toHaveLength(MAX_FIELD_ERRORS);
  expect(body.detail).toHaveLength(MAX_DETAIL_LENGTH);
  expect(JSON.stringify(body).length).toBeLessThan(60_000);
});
