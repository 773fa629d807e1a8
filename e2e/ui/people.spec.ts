import { signIn } from "#e2e/api/people.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { codeNow } from "#server/testing/authenticator.ts";

// What people do with their own accounts, and admins for them.

const owner = () => signIn({ email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" });

test("a link sets a new password; a second factor is turned on and asked for, and a recovery code stands in for it", async ({
  person,
  pageOf,
}) => {
  const admin = await pageOf(await owner());
  await admin.goto("/settings/install");
  await admin.getByRole("searchbox", { name: "Search people" }).fill(person.email);
  await expect(admin.getByRole("table", { name: "People" }).getByRole("row")).toHaveCount(2);
  await chooseOf(admin, "Robin Weaver", "Link to a new password");
  await admin.getByRole("button", { name: "Make link" }).click();
  const link = await admin.getByRole("textbox", { name: "Link to a new password" }).inputValue();

  const page = await pageOf();
  await page.goto(new URL(link).pathname);
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await page.getByLabel("New password").fill("seven looms at noon");
  await page.getByRole("button", { name: "Set password" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  expect((await person.browser.get("/api/v1/auth/me")).status()).toBe(401);

  await page.goto("/settings/security");
  const section = page.getByRole("region", { name: "Second factor" });
  await section.getByRole("button", { name: "Turn on" }).click();
  await page.getByLabel("Your password").fill("seven looms at noon");
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByRole("img", { name: "QR code for an authenticator app" })).toBeVisible();
  expect(await axeFaultsInBothThemes(page, "[role=dialog]")).toEqual([]);
  const secret = await page.getByRole("textbox", { name: "Without a camera" }).inputValue();
  await page.getByLabel("Code of the app").fill("000000");
  await page.getByRole("button", { name: "Turn on" }).click();
  await expect(page.getByText("This code is not right.")).toBeVisible();
  await page.getByLabel("Code of the app").fill(codeNow(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  const [recovery = ""] = ((await page.getByLabel("recovery codes", { exact: true }).textContent()) ?? "").split("\n");
  await page.getByRole("button", { name: "I have kept them" }).click();
  await expect(section).toContainText("10 recovery codes left.");

  await page.context().clearCookies();
  await page.goto("/sign-in");
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill("seven looms at noon");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  const code = page.getByLabel("Code");
  await expect(code).toBeFocused();
  expect(await axeFaultsInBothThemes(page)).toEqual([]);
  await code.fill("123456");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByText("This code is not right, or has been used.")).toBeVisible();
  await code.fill(recovery);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  await page.goto("/settings/security");
  await expect(section).toContainText("9 recovery codes left.");
  await page.goto(new URL(link).pathname);
  await expect(page.getByRole("heading", { name: "This link cannot be used" })).toBeVisible();
});

test("settings are one's own and the project's: sessions, notifications, times; a service account calls; an invitation is sent again", async ({
  signedInPage: page,
  person,
  pageOf,
  baseURL,
}) => {
  const { browser } = await signIn(person);
  await page.goto("/settings/sessions");
  const sessions = page.getByRole("table", { name: "Sessions" });
  await expect(sessions.getByRole("row")).toHaveCount(3);
  await expect(sessions.getByText("this browser")).toHaveCount(1);
  await page.getByRole("button", { name: "Sign out all others" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Sign out all others" }).click();
  await expect(sessions.getByRole("row")).toHaveCount(2);
  expect((await browser.get("/api/v1/auth/me")).status()).toBe(401);

  const nav = page.getByRole("navigation", { name: "Settings" });
  await nav.getByRole("link", { name: "Notifications" }).click();
  await page.getByRole("switch", { name: "A run waits for a decision: by e-mail" }).click();
  await page.getByRole("switch", { name: "A schedule was missed: in the app" }).click();
  await expect
    .poll(async () => (await (await person.browser.get("/api/v1/users/me")).json()).notifications)
    .toMatchObject({ review: { in_app: true, mail: true }, schedule_missed: { in_app: false, mail: false } });

  await nav.getByRole("link", { name: "Profile" }).click();
  await page.getByLabel("Time zone").fill("Nowhere/Land");
  await page.getByRole("region", { name: "Times and numbers" }).getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("This is no time zone.")).toBeVisible();
  await page.getByLabel("Time zone").fill("Pacific/Kiritimati");
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Dates and numbers" }).click();
  await page.getByRole("option", { name: /^German \(Germany\)/ }).click();
  await expect(page.getByRole("listbox")).toBeHidden(); // it holds off presses until it is gone
  const isReloaded = page.waitForEvent("load"); // all that is shown is written anew
  await page.getByRole("region", { name: "Times and numbers" }).getByRole("button", { name: "Save" }).click();
  await isReloaded;
  expect(await (await person.browser.get("/api/v1/users/me")).json()).toMatchObject({ time_zone: "Pacific/Kiritimati", locale: "de-DE" });

  await page.goto("/settings/service-accounts");
  await page.getByRole("button", { name: "Create service account" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Nightly report");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByRole("dialog", { name: "API keys of Nightly report" }).getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("cron");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByRole("textbox", { name: "API key" }).inputValue();
  const me = await fetch(`${baseURL}/api/v1/auth/me`, { headers: { authorization: `Bearer ${key}` } });
  expect(await me.json()).toMatchObject({ name: "Nightly report" });
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("row", { name: /Nightly report/ })).toContainText("nightly-report-");
  // In the person's zone, whichever the browser's is.
  const there = new Date().toLocaleDateString("de-DE", { timeZone: "Pacific/Kiritimati", day: "numeric", month: "short", year: "numeric" });
  await page.goto("/settings/audit");
  await expect(page.locator("time").first()).toHaveAttribute("title", new RegExp(`^${there.replaceAll(".", "\\.")}`));

  await page.goto("/settings/members");
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("E-mail").fill("late@example.com");
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const path = async () => new URL(await page.getByRole("textbox", { name: "Invitation link" }).inputValue()).pathname;
  const first = await path();
  await page.getByRole("button", { name: "Done" }).click();
  await chooseOf(page, "late@example.com", "Resend");
  const second = await path();
  const theirs = await pageOf();
  await theirs.goto(first);
  await expect(theirs.getByRole("heading", { name: "This invitation is not valid" })).toBeVisible();
  await theirs.goto(second);
  await expect(theirs.getByRole("heading", { name: `Join ${person.project.name}` })).toBeVisible();
});

test("on a phone the settings fit, and the way to a first call is copied with the project's slug", async ({
  signedInPage: page,
  person,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of ["profile", "security", "sessions", "notifications", "limits", "service-accounts", "api-keys"]) {
    await page.goto(`/settings/${name}`);
    await expect(page.getByRole("navigation", { name: "Settings" }).locator("[aria-current=page]")).toBeInViewport({ ratio: 1 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(390);
  }
  await page.getByRole("tab", { name: "Python" }).click();
  await expect(page.getByLabel("Python call", { exact: true })).toContainText(`"X-Project-Slug": "${person.project.slug}"`);
});
