import { z } from "zod";
import "#server/shared/messages.ts";

// Rules for every file of this folder: wire types only (no transforms, no coercion, no Date), strict top-level inputs,
// every string, list and number bounded, no import of anything above this folder.

/** UUID v7 of a resource. Kept a plain string on the way in: a malformed id is a 404, not a 422. */
export const Id = z.string().min(1).max(64).meta({ description: "UUID v7", example: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" });

// The calendar has no year 0, and neither has the database; beyond the year 9999 times are written in another way.
const isInTheCalendar = (text: string): boolean => {
  const year = new Date(text).getUTCFullYear();
  return year >= 1 && year <= 9999;
};
const NO_YEAR = "Give a year from 1 to 9999.";

/** Time in a request: an ISO 8601 date, or a date-time with an offset. `firstInstant` and `lastInstant` read it. */
export const TimeInput = z
  .union([z.iso.date(), z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })], {
    error: "Use an ISO 8601 date or a date-time with an offset, such as 2026-11-29 or 2026-11-29T08:00:00Z.",
  })
  .refine(isInTheCalendar, NO_YEAR)
  .meta({ description: "ISO 8601 date (UTC), or date-time with an offset", example: "2026-11-21T08:00:00Z" });

/** ISO 8601 in UTC with Z and milliseconds. */
export const Timestamp = z.iso
  .datetime({ precision: 3 })
  .refine(isInTheCalendar, NO_YEAR)
  .meta({ description: "ISO 8601, UTC, milliseconds", example: "2026-11-21T08:00:00.000Z" });

/** A name that people give to a resource. */
export const Name = z
  .string()
  .trim()
  .min(1, "Give it a name.")
  .max(120)
  .meta({ description: "Name, 1 to 120 characters", title: "Name", example: "Daily digest" });

export const Description = z
  .string()
  .max(2000)
  .meta({ description: "What it is for, up to 2,000 characters", title: "Description", example: "Sums up the news" });

// `abort` keeps longer texts from the pattern.
export const Email = z
  .string()
  .max(254, { abort: true })
  .check(z.email())
  .meta({ description: "E-mail address", title: "E-mail", example: "ada@example.com" });

/** The address of an account as answers show it: an account of an earlier release may have one that `Email` refuses. */
export const AccountEmail = z
  .string()
  .meta({ description: "E-mail address", format: "email", title: "E-mail", example: "ada@example.com" });

export const Password = z
  .string()
  .min(8, "Use at least 8 characters.")
  .max(200)
  .meta({ description: "8 to 200 characters", title: "Password", example: "seven looms at noon" });

export const Role = z.enum(["viewer", "approver", "editor", "admin"]).meta({
  id: "Role",
  description: "viewer reads, approver also decides reviews, editor also writes and runs, admin also manages members and secrets",
  example: "editor",
});
export type Role = z.infer<typeof Role>;

/** The two query parameters of every list. */
export const pageQuery = {
  page: z.number().int().min(1).max(100_000).default(1).meta({ description: "Page, from 1" }),
  per_page: z.number().int().min(1).max(200).default(50).meta({ description: "Items a page, at most 200" }),
};

export const PageInput = z.strictObject(pageQuery);
export type PageInput = z.infer<typeof PageInput>;

/** The query parameter of a list that is searched. */
export const searchQuery = {
  q: z
    .string()
    .trim()
    .max(200)
    .optional()
    .meta({ description: "Only what has each of these words in its name, or in what else the list shows of it", example: "digest" }),
};

/** A page of a list that can be searched. */
export const ListInput = z.strictObject({ ...pageQuery, ...searchQuery });
export type ListInput = z.infer<typeof ListInput>;

/** The list envelope around `item`. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    total: z.number().int().meta({ description: "How many there are in all", example: 1 }),
    page: z.number().int().meta({ description: "The page that this is", example: 1 }),
    per_page: z.number().int().meta({ description: "Items a page", example: 50 }),
  });
export type Page<Item> = { items: Item[]; total: number; page: number; per_page: number };

/** Input of an operation that takes nothing. */
export const Nothing = z.strictObject({});

/** Output of an operation that answers 204. */
export const NoContent = z.void();

/**
 * The fields of `resource` that `writable` does not name, as optional and ignored: a client may send back what a GET
 * gave it (contract, section 1), while any key that the resource does not have is still refused.
 */
export function ignoredFields<Resource extends z.ZodObject>(
  resource: Resource,
  writable: Record<string, unknown>,
): Record<string, z.ZodOptional<z.ZodUnknown>> {
  const names = Object.keys(resource.shape).filter((name) => !(name in writable));
  return Object.fromEntries(
    names.map((name) => [name, z.unknown().optional().meta({ description: "Read-only: accepted and ignored", readOnly: true })]),
  );
}
