import { signIn } from "#e2e/api/people.ts";
import { axeFaultsInBothThemes } from "#e2e/axe.ts";
import { expect, newPerson, test } from "#e2e/fixtures.ts";
import { chooseOf } from "#e2e/ui/locators.ts";
import { codeNow } from "#server/testing/authenticator.ts";

// What people do with their own accounts, and admins for them.

const owner = () => signIn({ email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" });

test("admins of the install name others, and send links to a new password; a second factor is turned on and asked for", async ({
  signedInPage: page,
  person,
  pageOf,
  baseURL,
}) => {
  test.setTimeout(120_000); // three states are examined
  const own = await pageOf(await owner());

  await test.step("install admins are named in the settings, which nobody else sees", async () => {
    await page.goto("/settings/project");
    await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Profile" })).toBeVisible();
    await expect(page.getByRole("navigation", { name: "Settings" }).locator("[aria-current=page]")).toHaveText("Project");
    await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" })).toHaveCount(0);
    await own.goto("/settings/project");
    await own.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" }).click();
    await expect(own.getByRole("table", { name: "Install admins" })).toBeVisible();
    await expect(own.getByText("No emails are sent: SMTP_URL and EMAIL_FROM are not set.")).toBeVisible();
    await own.getByRole("button", { name: "Name admin" }).click();
    await own.getByLabel("E-mail").fill(person.email);
    const name = own.getByRole("dialog").getByRole("button", { name: "Name admin" });
    await name.click();
    // Nobody has proven whose the account is, so whoever names it says so.
    await expect(own.getByText("This address is not verified")).toBeVisible();
    const known = own.getByLabel("I know that this account is theirs");
    await expect(name).toBeDisabled();
    await known.click();
    // What was said of one account is not said of the next.
    await own.getByLabel("E-mail").fill((await newPerson(baseURL)).email);
    await expect(known).toHaveCount(0);
    await name.click();
    await expect(own.getByText("This address is not verified")).toBeVisible();
    await own.getByLabel("E-mail").fill(person.email);
    await name.click();
    await known.click();
    await name.click();
    await expect(own.getByRole("row", { name: new RegExp(person.email) }).first()).toBeVisible();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/settings/install");
    // The last of the tabs, on a phone: what is open is in view.
    await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" })).toBeInViewport({ ratio: 1 });
    await page
      .getByRole("table", { name: "Install admins" })
      .getByRole("row", { name: new RegExp(person.email) })
      .getByRole("button", { name: /^Actions of/ })
      .click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await page.waitForURL(/\/settings\/(?!install)/);
    await expect(page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Install" })).toHaveCount(0);
  });

  await test.step("a link sets a new password; a second factor is turned on and asked for, and a recovery code stands in for it", async () => {
    await own.getByRole("searchbox", { name: "Search people" }).fill(person.email);
    await expect(own.getByRole("table", { name: "People" }).getByRole("row")).toHaveCount(2);
    await own
      .getByRole("table", { name: "People" })
      .getByRole("button", { name: /^Actions of/ })
      .click();
    await own.getByRole("menuitem", { name: "Link to a new password" }).click();
    await own.getByRole("button", { name: "Make link" }).click();
    const link = await own.getByRole("textbox", { name: "Link to a new password" }).inputValue();

    const theirs = await pageOf();
    await theirs.goto(new URL(link).pathname);
    expect(await axeFaultsInBothThemes(theirs)).toEqual([]);
    await theirs.getByLabel("New password").fill("seven looms at noon");
    await theirs.getByRole("button", { name: "Set password" }).click();
    await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();
    expect((await person.browser.get("/api/v1/auth/me")).status()).toBe(401);

    await theirs.goto("/settings/security");
    const section = theirs.getByRole("region", { name: "Two-factor authentication" });
    await section.getByRole("button", { name: "Turn on" }).click();
    await theirs.getByLabel("Your password").fill("seven looms at noon");
    await theirs.getByRole("button", { name: "Continue" }).click();
    await expect(theirs.getByRole("img", { name: "QR code for an authenticator app" })).toBeVisible();
    expect(await axeFaultsInBothThemes(theirs, "[role=dialog]")).toEqual([]);
    const secret = await theirs.getByRole("textbox", { name: "Without a camera" }).inputValue();
    await theirs.getByLabel("Code of the app").fill("000000");
    await theirs.getByRole("button", { name: "Turn on" }).click();
    await expect(theirs.getByText("This code is not right.")).toBeVisible();
    await theirs.getByLabel("Code of the app").fill(codeNow(secret));
    await theirs.getByRole("button", { name: "Turn on" }).click();
    const [recovery = ""] = ((await theirs.getByLabel("recovery codes", { exact: true }).textContent()) ?? "").split("\n");
    await theirs.getByRole("button", { name: "I have kept them" }).click();
    await expect(section).toContainText("10 recovery codes left.");

    await theirs.context().clearCookies();
    await theirs.goto("/sign-in");
    await theirs.getByLabel("E-mail").fill(person.email);
    await theirs.getByLabel("Password").fill("seven looms at noon");
    await theirs.getByRole("button", { name: "Sign in", exact: true }).click();
    const code = theirs.getByLabel("Code");
    await expect(code).toBeFocused();
    expect(await axeFaultsInBothThemes(theirs)).toEqual([]);
    await code.fill("123456");
    await theirs.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(theirs.getByText("This code is not right, or has been used.")).toBeVisible();
    await code.fill(recovery);
    await theirs.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();
    await theirs.goto("/settings/security");
    await expect(section).toContainText("9 recovery codes left.");
    await theirs.goto(new URL(link).pathname);
    await expect(theirs.getByRole("heading", { name: "This link cannot be used" })).toBeVisible();
  });
});

test("settings are one's own and the project's: sessions, notifications, times, service accounts, and invitations, which are sent again", async ({
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

  await nav.getByRole("link", { name: "Service accounts" }).click();
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
  await nav.getByRole("link", { name: "Audit log" }).click();
  await expect(page.getByRole("table", { name: "Audit log" }).locator("time").first()).toHaveAttribute(
    "title",
    new RegExp(`^${there.replaceAll(".", "\\.")}`),
  );

  await nav.getByRole("link", { name: "Members" }).click();
  await page.getByRole("button", { name: "Invite" }).click();
  const email = `${crypto.randomUUID()}@example.com`;
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const path = async () => new URL(await page.getByRole("textbox", { name: "Invitation link" }).inputValue()).pathname;
  const first = await path();
  await page.getByRole("button", { name: "Done" }).click();
  await chooseOf(page, email, "Resend");
  const second = await path();
  const theirs = await pageOf();
  await theirs.goto(first);
  await expect(theirs.getByRole("heading", { name: "This invitation is not valid" })).toBeVisible();
  await theirs.goto(second);
  await expect(theirs.getByRole("heading", { name: `Join ${person.project.name}` })).toBeVisible();
  // It leads a newcomer into the project, once.
  await theirs.getByLabel("Your name").fill("Vera");
  await theirs.getByLabel("Password").fill("password-v-1");
  await theirs.getByRole("button", { name: "Join project" }).click();
  await expect(theirs.getByRole("navigation", { name: "Main" })).toBeVisible();
  // Away from the studio first: it notices by itself that the session has gone, and leads to the sign-in.
  await theirs.goto("about:blank");
  await theirs.context().clearCookies();
  await theirs.goto(second);
  await expect(theirs.getByRole("heading", { name: /has been used/ })).toBeVisible();
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
