import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { until } from "#e2e/until.ts";
import { startSending } from "#server/features/emails/send.ts";
import { signInWithPassword } from "#server/features/identity/sign-in.ts";
import { linkToNewPassword, listPeople, removeSecondFactor } from "#server/features/install/people.ts";
import { removeInstallAdmin } from "#server/features/install/service.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { getPasswordReset, requestPasswordReset, resetPassword } from "#server/features/security/password-reset.ts";
import {
  beginSecondFactor,
  CodeNeeded,
  confirmSecondFactor,
  getSignInSafety,
  renewRecoveryCodes,
  turnOffSecondFactor,
} from "#server/features/security/second-factor.ts";
import { endOtherSessions, endOwnSession, listSessions } from "#server/features/security/sessions.ts";
import { countCodeTry, countOwnCodeTry, forgetOwnCodeTries } from "#server/platform/auth/limits.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { codeNow } from "#server/testing/authenticator.ts";
import { quickHash } from "#server/testing/quick-hash.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const page = { page: 1, per_page: 50 };
const password = "correct horse battery";
let mails: MailServer;
let stopSending: Awaited<ReturnType<typeof startSending>>;
let ada: ProjectPrincipal;

beforeAll(async () => {
  mails = await startMailServer();
  setSettings({ AUTH_SECRET: "auth secret of at least 32 characters", APP_URL: "http://localhost:4000" });
  stopSending = await startSending();
});
afterAll(async () => {
  await stopSending(1000);
  await mails.stop();
});
beforeEach(async () => {
  setSettings({ SMTP_URL: mails.url, EMAIL_FROM: "Treadle <treadle@example.com>" });
  ada = await withPassword();
});

async function withPassword(data: { email_verified_at?: Date } = { email_verified_at: new Date() }): Promise<ProjectPrincipal> {
  const person = await database.newAdmin();
  await db().user.update({ where: { id: person.user.id }, data: { ...data, password_hash: await quickHash(password) } });
  return person;
}

/** From an address of its own, so that tries of other tests do not count. */
const signIn = (email: string, code?: string, given = password, address: string = randomUUID()) =>
  signInWithPassword(email, given, address, code);

async function signedIn(who: ProjectPrincipal, headers: Record<string, string> = {}) {
  const browser = authBrowser({ "user-agent": "Looms 1.0", ...headers });
  await browser.post("/callback/credentials", { email: who.user.email, password });
  return browser;
}

/** Turns the second factor of somebody on. */
async function careful(who: ProjectPrincipal) {
  const { secret } = await beginSecondFactor(who, { password });
  const used = codeNow(secret);
  const { recovery_codes } = await confirmSecondFactor(who, { code: used });
  return { secret, used, recovery_codes };
}
const NOT_RIGHT = "This code is not right, or has been used.";

const sessionOf = (who: Principal | null): string => (who?.auth.type === "session" && who.auth.session_id) || "";

const mailOf = (to: string, subject: RegExp) =>
  mails.mails.filter((mail) => mail.to.includes(to) && subject.test(mail.headers.subject ?? ""));
const linkIn = async (to: string): Promise<string> => {
  const mail = await until(() => mailOf(to, /A new password/).at(-1));
  return /reset-password\/(\S+)/.exec(mail.text)?.[1] ?? "";
};

test("a session is listed with its browser, ended alone or with all others, and is out at once", async () => {
  const [one, two, three] = [await signedIn(ada), await signedIn(ada, { "user-agent": "Shuttle 2" }), await signedIn(ada)];
  const me = await principalOf(one.cookieHeader());
  if (!me) throw new Error("not signed in");
  const { items, total } = await listSessions(me, page);
  expect(total).toBe(3);
  expect(items.filter(({ is_current }) => is_current)).toHaveLength(1);
  const shuttle = items.find(({ agent }) => agent === "Shuttle 2");
  await endOwnSession(me, { session_id: shuttle?.id ?? "" });
  expect(await principalOf(two.cookieHeader())).toBeNull();
  expect(await principalOf(three.cookieHeader())).not.toBeNull();
  await expect(endOwnSession(me, { session_id: shuttle?.id ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await endOtherSessions(me)).toEqual({ count: 1 });
  expect(await principalOf(three.cookieHeader())).toBeNull();
  expect(await principalOf(one.cookieHeader())).not.toBeNull();
});

test("nobody ends or lists another's session, and a key for some projects lists none", async () => {
  const browser = await signedIn(ada);
  const me = await principalOf(browser.cookieHeader());
  const [session] = (await listSessions(ada, page)).items;
  const eve = await withPassword();
  await expect(endOwnSession(eve, { session_id: session?.id ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await listSessions(eve, page)).total).toBe(0);
  const { key } = await createPlatformKey(ada, { name: "One", project_ids: [ada.project.id] });
  const confined = await principalOf(new Headers({ authorization: `Bearer ${key}` }));
  if (!confined || !me) throw new Error("nobody");
  await expect(listSessions(confined, page)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("a cookie from before sessions had rows is good, and gets one, until all others are ended", async () => {
  const [old, current] = [await signedIn(ada), await signedIn(ada)];
  const before = await principalOf(old.cookieHeader());
  await db().session.deleteMany({ where: { id: sessionOf(before) } });
  expect(await principalOf(old.cookieHeader())).not.toBeNull();
  expect((await listSessions(ada, page)).total).toBe(2);
  const older = await signedIn(ada);
  const me = await principalOf(older.cookieHeader());
  await db().session.deleteMany({ where: { id: sessionOf(me) } });
  const here = await principalOf(current.cookieHeader());
  if (here) await endOtherSessions(here);
  for (const browser of [old, older]) expect(await principalOf(browser.cookieHeader())).toBeNull();
});

test("a session is noted once a minute, and beyond fifty the one that was seen longest ago is out", async () => {
  const browser = await signedIn(ada);
  const seen = async () => (await db().session.findFirstOrThrow({ where: { user_id: ada.user.id } })).seen_at.getTime();
  const first = await seen();
  await principalOf(browser.cookieHeader());
  expect(await seen()).toBe(first);
  await db().session.updateMany({ where: { user_id: ada.user.id }, data: { seen_at: new Date(Date.now() - 61_000) } });
  await Promise.all([principalOf(browser.cookieHeader()), principalOf(browser.cookieHeader())]);
  expect(await seen()).toBeGreaterThanOrEqual(first);
  const more = Array.from({ length: 49 }, () => ({ id: randomUUID(), user_id: ada.user.id, expires_at: new Date(Date.now() + 60_000) }));
  await db().session.createMany({ data: more });
  await db().session.updateMany({ where: { id: more[0]?.id ?? "" }, data: { seen_at: new Date(0) } });
  await signedIn(ada);
  expect((await listSessions(ada, page)).total).toBe(50);
  expect((await db().session.findUniqueOrThrow({ where: { id: more[0]?.id ?? "" } })).ended_at).not.toBeNull();
});

test("a second factor is asked for after the right password only; a code is good once, also for two at once", async () => {
  const { email } = ada.user;
  const { secret, used } = await careful(ada);
  await expect(signIn(email)).rejects.toThrow(CodeNeeded);
  expect(await signIn(email, undefined, "wrong")).toBeNull();
  expect(await signIn(email, codeNow(secret, 1), "wrong")).toBeNull();
  // The code that turned it on.
  await expect(signIn(email, used)).rejects.toThrow(NOT_RIGHT);
  const next = codeNow(secret, 1);
  const both = await Promise.allSettled([signIn(email, `${next.slice(0, 3)} ${next.slice(3)}`), signIn(email, next)]);
  expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await expect(signIn(email, codeNow(secret, 3))).rejects.toThrow(NOT_RIGHT);
  const stored = await db().secondFactor.findUniqueOrThrow({ where: { user_id: ada.user.id } });
  expect(JSON.stringify(stored)).not.toContain(secret);
});

test("the sign-in door asks for the code with a word of its own, and opens no session without it", async () => {
  const { recovery_codes } = await careful(ada);
  const browser = authBrowser();
  const answer = await browser.post("/callback/credentials", { email: ada.user.email, password });
  expect([answer.status, new URL(answer.url).searchParams.get("error")]).toEqual([401, "SecondFactor"]);
  expect(await principalOf(browser.cookieHeader())).toBeNull();
  await browser.post("/callback/credentials", { email: ada.user.email, password, code: recovery_codes[0]?.toUpperCase() ?? "" });
  expect(await principalOf(browser.cookieHeader())).not.toBeNull();
});

test("a recovery code is good once, is told, and new ones end the old", async () => {
  const { email } = ada.user;
  const { recovery_codes } = await careful(ada);
  expect(new Set(recovery_codes).size).toBe(10);
  const [first = "", second = "", third = ""] = recovery_codes;
  expect(await signIn(email, first.toUpperCase().replaceAll("-", " "))).not.toBeNull();
  await expect(signIn(email, first)).rejects.toThrow(NOT_RIGHT);
  const { text } = await until(() => mailOf(email, /recovery code/)[0]);
  expect(text).toContain("9 of your recovery codes are left");
  expect((await getSignInSafety(ada)).second_factor).toMatchObject({ recovery_codes_left: 9 });
  await expect(renewRecoveryCodes(ada, { password: "wrong password", code: second })).rejects.toThrow("This is not your password.");
  const renewed = await renewRecoveryCodes(ada, { password, code: second });
  await expect(signIn(email, third)).rejects.toThrow(NOT_RIGHT);
  expect(await signIn(email, renewed.recovery_codes[0])).not.toBeNull();
  // Another's codes are nothing here.
  const other = await withPassword();
  await careful(other);
  await expect(signIn(other.user.email, renewed.recovery_codes[1])).rejects.toThrow(NOT_RIGHT);
});

test("codes are guessed a few times only; a recovery code still opens, and the person at home is not locked out by others", async () => {
  const { email } = ada.user;
  const { secret, recovery_codes } = await careful(ada);
  await signIn(email, codeNow(secret, 1), password, "home");
  const wrong = (address: string) => signIn(email, "000000", password, address);
  for (let n = 0; n < 5; n++) await expect(wrong("thief")).rejects.toThrow(NOT_RIGHT);
  await expect(wrong("thief")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  for (const address of ["b", "c", "d"]) for (let n = 0; n < 5; n++) await wrong(address).catch(() => null);
  await expect(wrong("e")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  await expect(wrong("home")).rejects.toThrow(NOT_RIGHT);
  expect(await signIn(email, recovery_codes[0], password, "thief")).not.toBeNull();
});

test("an address where only the password was given is not a known one for codes", async () => {
  const { email } = ada.user;
  await signIn(email, undefined, password, "before");
  await careful(ada);
  // From everywhere together there are few tries, so none is left for this address.
  for (const address of ["a", "b", "c"]) for (let n = 0; n < 5; n++) await countCodeTry(email, address, false);
  await expect(signIn(email, "000000", password, "before")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
});

test("turning the second factor off takes password and code; one that is not confirmed is not asked for", async () => {
  const { email } = ada.user;
  await beginSecondFactor(ada, { password });
  expect(await signIn(email)).not.toBeNull();
  await expect(beginSecondFactor(ada, { password: "wrong password" })).rejects.toThrow("This is not your password.");
  await expect(confirmSecondFactor(ada, { code: "000000" })).rejects.toThrow("This code is not right.");
  const { recovery_codes } = await careful(ada);
  await expect(beginSecondFactor(ada, { password })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(turnOffSecondFactor(ada, { password, code: "000000" })).rejects.toThrow(NOT_RIGHT);
  await turnOffSecondFactor(ada, { password, code: recovery_codes[0] ?? "" });
  expect(await signIn(email)).not.toBeNull();
  expect(await db().recoveryCode.count({ where: { user_id: ada.user.id } })).toBe(0);
});

test("somebody who is signed in and knows the password cannot guess the code: a right password takes back no try", async () => {
  const { recovery_codes } = await careful(ada);
  const [code = "", another = ""] = recovery_codes;
  for (let n = 0; n < 39; n++) await countOwnCodeTry(ada.user.id);
  await expect(turnOffSecondFactor(ada, { password, code: "000000" })).rejects.toThrow(NOT_RIGHT);
  await expect(beginSecondFactor(ada, { password })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(turnOffSecondFactor(ada, { password, code })).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  await forgetOwnCodeTries(ada.user.id);
  await turnOffSecondFactor(ada, { password, code: another });
});

test("who signs in through another service has no second factor here", async () => {
  const sso = await database.newAdmin();
  await expect(beginSecondFactor(sso, { password })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("an install admin removes a second factor and hands over a link; nobody else does, and the person is told", async () => {
  const admin = await database.newInstallAdmin();
  const { id: user_id, email } = ada.user;
  await careful(ada);
  for (const refused of [removeSecondFactor, linkToNewPassword])
    await expect(refused(ada, { user_id })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(listPeople(ada, page)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await listPeople(admin, { ...page, q: email.toUpperCase() })).toMatchObject({ items: [{ user_id, has_second_factor: true }] });
  await removeSecondFactor(admin, { user_id });
  expect(await signIn(email)).not.toBeNull();
  await expect(removeSecondFactor(admin, { user_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  for (const own of [removeSecondFactor, linkToNewPassword])
    await expect(own(admin, { user_id: admin.user.id })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  const { url } = await linkToNewPassword(admin, { user_id });
  await until(() => mailOf(email, /Two-factor/)[0] && mailOf(email, /A link to set a new password/)[0]);
  expect(mails.mails.some(({ text }) => text.includes(url))).toBe(false);
  const entries = await db().auditEntry.findMany({ where: { project_id: ada.project.id, actor_id: admin.user.id } });
  expect(entries.map(({ action }) => action).sort()).toEqual(["account.make_password_link", "account.remove_second_factor"]);
});

test("with an install admin go the links that they have made", async () => {
  const [admin, other] = [await database.newInstallAdmin(), await database.newInstallAdmin()];
  const { url } = await linkToNewPassword(admin, { user_id: ada.user.id });
  await removeInstallAdmin(other, { user_id: admin.user.id });
  await expect(getPasswordReset({ token: url.split("/reset-password/")[1] ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a mailed link sets a new password once, ends every session, and verifies the address", async () => {
  const person = await withPassword({});
  const { email, id } = person.user;
  const { key } = await createPlatformKey(person, { name: "Old" });
  const browser = await signedIn(person);
  await requestPasswordReset({ email: email.toUpperCase() }, randomUUID());
  const token = await linkIn(email);
  expect(await getPasswordReset({ token })).toMatchObject({ email });
  const both = await Promise.allSettled([
    resetPassword({ token, password: "the first new" }),
    resetPassword({ token, password: "the second new" }),
  ]);
  expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await expect(getPasswordReset({ token })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await signIn(email)).toBeNull();
  expect(await principalOf(browser.cookieHeader())).toBeNull();
  expect((await listSessions(person, page)).total).toBe(0);
  expect((await db().user.findUniqueOrThrow({ where: { id } })).email_verified_at).not.toBeNull();
  // Anybody may have made them before the address was known to be the person's.
  expect(await principalOf(new Headers({ authorization: `Bearer ${key}` }))).toBeNull();
  await until(() => mailOf(email, /was changed/)[0]);
});

test("a mailed link stays valid until the password is set, whatever is requested", async () => {
  const person = await withPassword({});
  const { email } = person.user;
  await requestPasswordReset({ email }, randomUUID());
  const first = await linkIn(email);
  for (let n = 0; n < 6; n++) await requestPasswordReset({ email }, randomUUID());
  await until(() => mailOf(email, /A new password/).length === 5);

  await resetPassword({ token: first, password: "a new password" });

  for (const mail of mailOf(email, /A new password/)) {
    const token = /reset-password\/(\S+)/.exec(mail.text)?.[1] ?? "";
    await expect(getPasswordReset({ token })).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

test("an old link is over, and who asks learns nothing of who has an account", async () => {
  const { email, id } = ada.user;
  const { key } = await createPlatformKey(ada, { name: "Stays" });
  const address = randomUUID();
  await requestPasswordReset({ email }, address);
  const token = await linkIn(email);
  await db().passwordReset.updateMany({ where: { user_id: id }, data: { expires_at: new Date(Date.now() - 1) } });
  await expect(resetPassword({ token, password: "never set" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const tries = mails.tries();
  const sso = await database.newAdmin();
  for (const unknown of ["nobody@example.com", sso.user.email])
    expect(await requestPasswordReset({ email: unknown }, address)).toBeUndefined();
  for (let n = 3; n < 20; n++) await requestPasswordReset({ email: "nobody@example.com" }, address);
  await expect(requestPasswordReset({ email: "nobody@example.com" }, address)).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  expect(mails.tries()).toBe(tries);
  expect(await principalOf(new Headers({ authorization: `Bearer ${key}` }))).not.toBeNull();
  setSettings({ SMTP_URL: "" });
  for (const asked of [email, "nobody@example.com"])
    await expect(requestPasswordReset({ email: asked }, randomUUID())).rejects.toMatchObject({ code: "CONFLICT" });
});

test("nobody gets more than five mails with a link in an hour, whoever asks from wherever", async () => {
  for (let n = 0; n < 8; n++) await requestPasswordReset({ email: ada.user.email }, randomUUID());
  await until(() => mailOf(ada.user.email, /A new password/).length === 5);
  const other = await withPassword();
  await requestPasswordReset({ email: other.user.email }, randomUUID());
  await linkIn(other.user.email);
  expect(mailOf(ada.user.email, /A new password/)).toHaveLength(5);
});

test("a new password leaves the second factor, or whoever has the mailbox would come in without it", async () => {
  const person = await withPassword();
  const { recovery_codes } = await careful(person);
  await requestPasswordReset({ email: person.user.email }, randomUUID());
  await resetPassword({ token: await linkIn(person.user.email), password: "a new password" });
  await expect(signIn(person.user.email, undefined, "a new password")).rejects.toThrow(CodeNeeded);
  expect(await signIn(person.user.email, recovery_codes[0], "a new password")).not.toBeNull();
});
