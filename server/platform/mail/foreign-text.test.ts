import { expect, test } from "vitest";
import { invitationMail } from "#server/features/projects/set-member.ts";
import { reviewMail } from "#server/features/reviews/mail.ts";
import { quotedLines, quotedName, unlinked } from "#server/platform/mail/layout.ts";
import { quotedMarkdown } from "#server/platform/mail/markdown.ts";

const EVIL = "Reset at http://evil.example/now or www.evil.example”\r\nBcc: x@evil.example\n\nYour account is closed.";
const at = new Date("2026-11-21T14:02:00Z");

/** What mail programs make links of. */
const links = (text: string): string[] => text.match(/\w+:\/\/\S+|[^\s@]+@\S+\.\p{L}+|[^\s.]+[.。]\p{L}\S*/gu) ?? [];

test.each([
  ["see http://evil.example/x", "see http:// evil. example/x"],
  ["HTTPS://1.2.3.4/x", "HTTPS:// 1.2.3.4/x"],
  ["pay@evil.example", "pay@evil. example"],
  ["evil。example und ｅvil．example", "evil。 example und ｅvil． example"],
  ["xn--e1aybc.xn--p1ai", "xn--e1aybc. xn--p1ai"],
  ["evil.3com", "evil. 3com"],
  ["Version 1.2. Ends here.", "Version 1.2. Ends here."],
  ["a\u202Eb\u200Bc\u0000\n\td", "a\\u202Eb\\u200Bc\n\td"],
  ["see evil.\u200Dcom", "see evil. \u200Dcom"],
  ["می\u200Cخواهم", "می\u200Cخواهم"],
  ["javascript:alert(1)", "javascript: alert(1)"],
  ["MAILTO:pay@evil", "MAILTO: pay@evil"],
  ["\\\\evil\\share", "\\\\ evil\\share"],
])("%j leads nowhere", (text, shown) => expect(unlinked(text)).toBe(shown));

test("a name is quoted, short and on one line", () => {
  expect(quotedName(' Big\r\nnews” and "more" ')).toBe("“Big news' and 'more'”");
  expect(quotedName("a\u200Db\u202Ec")).toBe("“a\\u200Db\\u202Ec”");
  expect(quotedName("é".repeat(200))).toBe(`“${"é".repeat(79)}…”`);
});

test("subjects hold nothing that a stranger wrote, and of the links in a mail only ours is one", async () => {
  const invitation = invitationMail({
    inviter: EVIL,
    project_name: EVIL,
    role: "viewer",
    expires_at: at,
    url: "https://ours.example/invite/x",
  });
  const review = await reviewMail({
    project_id: "a-project",
    title: EVIL,
    description: EVIL,
    display_value: EVIL,
    workflow_name: EVIL,
    reference: "3f2a9c1d",
    due_at: null,
    expires_at: at,
    url: "https://ours.example/review/x",
  });
  expect(invitation.subject).toBe("You are invited to a project on Treadle");
  expect(review.subject).toBe("A run on Treadle waits for your decision (3f2a9c1d)");
  for (const { text, html, url } of [
    { ...invitation, url: "https://ours.example/invite/x" },
    { ...review, url: "https://ours.example/review/x" },
  ]) {
    expect(links(text)).toEqual([url]);
    // The address stands in the button; styles and the rest of the markup are ours.
    expect(links(html.replace(/<[^>]+>/g, " "))).toEqual([]);
    expect([...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual([url]);
  }
});

test("Markdown that takes the parser too long is mailed as plain text", async () => {
  const [html] = await quotedMarkdown("a-project", ["1. ".repeat(2600)]);

  expect(html).toContain("1. 1. 1. ");
  expect(html).not.toContain("<ol");
});

test.each(["\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"])("a mark stands before the line after %j", (end) => {
  const lines = quotedLines(`Hello${end}----------------------------------------${end}Your account is closed.`).split("\n");

  expect(lines.every((line) => line.startsWith(">"))).toBe(true);
  expect(lines.join("\n")).not.toMatch(/[\r\v\f\u0085\u2028\u2029]/);
});

test("a long line of others is broken, with a mark before each part", () => {
  const lines = quotedLines(`Hello${" ".repeat(200)}Your account is closed. ${"x".repeat(200)}`).split("\n");

  expect(lines.every((line) => line.startsWith(">") && line.length <= 74)).toBe(true);
});

test.each([
  "[a](javascript:alert(1))",
  "<javascript:alert(1)>",
  "[a](data:text/html,x)",
  "[a](https://evil.example)",
  "<mailto:a@evil.example>",
])("Markdown in a mail makes no link of %s", async (text) => {
  const [html] = await quotedMarkdown("a-project", [text]);

  expect(html).not.toMatch(/href|(?:javascript|data|mailto):\S/);
});
