import { expect, test } from "vitest";
import { z } from "zod";
import { Slug } from "#server/features/projects/schema.ts";
import { Email, Name, PageInput, Role } from "#server/shared/primitives-schema.ts";

const said = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues.map((issue) => issue.message);

test.each([
  [z.object({ name: z.string() }), {}, "This field is required."],
  [z.object({ role: Role }), {}, "This field is required."],
  [z.string(), 5, "Send text, not a number."],
  [z.number(), "5", "Send a number, not text."],
  [z.number().int(), 1.5, "Send a whole number."],
  [z.boolean(), null, "Send true or false, not null."],
  [z.array(z.string()), {}, "Send a list, not an object."],
  [z.object({}), [], "Send an object, not a list."],
  [Role, "owner", "Use one of: viewer, approver, editor, admin."],
  [PageInput.shape.per_page, 201, "This must be at most 200."],
  [PageInput.shape.page, 0, "This must be at least 1."],
  [z.string().min(1), "", "This must not be empty."],
  [z.string().max(2000), "x".repeat(2001), "Use at most 2,000 characters."],
  [z.array(z.string()).max(1), ["a", "b"], "Give at most 1 item."],
  [Email, "nobody", "This is not an e-mail address."],
  [z.url(), "example", "This is not a full address such as https://example.com."],
  [Name, " ", "Give it a name."],
])("%# a value that does not fit is explained", (schema, value, message) => {
  expect(said(schema, value)).toEqual([message]);
});

test.each([
  [Email, "a@".repeat(200), "Use at most 254 characters."],
  [Slug, "-".repeat(61), "Use at most 60 characters."],
])("reads no text longer than allowed with a pattern", (schema, text, message) => {
  expect(said(schema, text)).toEqual([message]);
});
