import { isUtf8 } from "node:buffer";
import { setTimeout as pause } from "node:timers/promises";
import { decoderOf } from "#server/platform/charset.ts";
import { messageOf } from "#server/platform/errors.ts";
import { isBrokenCoding, UnknownContentCoding } from "#server/platform/net/content-coding.ts";
import { AddressRefused, chosenReach } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { ProxyFailed } from "#server/platform/net/proxy-connection.ts";
import { AnswerTooLong, readUpTo } from "#server/platform/net/read-up-to.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import { CallAttempts } from "#server/shared/call-attempts.ts";
import type { HttpAnswer, HttpCall } from "#server/workflow/nodes/definition.ts";

// Calls of HTTP nodes: an address that a workflow's data chose, so never one of the own network unless the operator allows it.

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_REDIRECTS = 10;
/** The longest pause between two tries that is waited for, in milliseconds: who asks for more has answered. */
const LONGEST_PAUSE_MS = 60_000;
const USER_AGENT = "Treadle/1.0";

/** Headers that name whoever asks, whoever wrote them. */
const PERSONAL = new Set(["authorization", "cookie", "proxy-authorization"]);
/** Statuses after which the same may go well a little later. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || (status >= 500 && status <= 599);

/** A failure that another try would not mend. */
class CallFailed extends Error {}

/** A failure that another try may mend. */
class LineBroke extends Error {}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "The server";

/** What went wrong, in words, and whether another try may mend it. */
function failureOf(error: unknown, url: string): Error {
  if (error instanceof CallFailed) return error;
  if (error instanceof AddressRefused) return new CallFailed(error.message);
  if (error instanceof ProxyFailed) return error.isRetryable ? new LineBroke(error.message) : new CallFailed(error.message);
  if (error instanceof AnswerTooLong) return new CallFailed(error.message);
  const host = hostOf(url);
  if (error instanceof UnknownContentCoding) return new CallFailed(`${host} sent an answer that is not readable. ${error.message}`);
  if (isBrokenCoding(error)) return new CallFailed(`${host} sent an answer that cannot be unpacked.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND") return new CallFailed(`There is no server named ${host}.`);
  if (/^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code))
    return new CallFailed(`${host} has no certificate that can be trusted.`);
  if (code === "ERR_HTTP_STATUS") return new CallFailed(`${host}: ${messageOf(error)}`);
  if (code === "EAI_AGAIN") return new LineBroke(`${host} cannot be looked up just now: is this machine connected to the internet?`);
  if (code === "ECONNREFUSED") return new LineBroke(`${host} does not accept connections.`);
  return new LineBroke(`${host} could not be reached, or broke off${code ? ` (${code})` : ""}.`);
}

/** Decodes the value of a header as UTF-8, which servers send: Node reads each byte as one character. */
function headerText(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}

/** The headers of an answer; those of Set-Cookie, which cannot be joined into one value, as a list. */
function headersOf({ headers }: Response): HttpAnswer["headers"] {
  const shown: HttpAnswer["headers"] = {};
  for (const name of headers.keys()) shown[name] = headerText(headers.get(name) ?? "");
  const cookies = headers.getSetCookie().map(headerText);
  if (cookies.length > 1) shown["set-cookie"] = cookies;
  return shown;
}

/** Resolves a Location. Bytes beyond ASCII are encoded as they came, as browsers do. */
function locationOf(target: string, from: string): URL | null {
  return URL.parse(
    target.replace(/[\x80-\xff]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`),
    from,
  );
}

/** What a request to another place than the first still bears. @throws CallFailed for a body that is not for it */
function redirected(call: HttpCall, from: string, to: URL, status: number): HttpCall {
  const isOther = new URL(from).origin !== to.origin;
  const becomesGet = (status === 303 && call.method !== "HEAD") || ((status === 301 || status === 302) && call.method === "POST");
  const body = becomesGet ? undefined : call.body;
  if (isOther && body?.isSecret)
    throw new CallFailed(`${hostOf(from)} redirects to ${to.host}, and the body holds a credential, which is not sent to another place.`);
  const isKept = ({ name, isSecret }: HttpCall["headers"][number]) =>
    !(isOther && (isSecret || PERSONAL.has(name.toLowerCase()))) && !(becomesGet && /^content-/i.test(name));
  return { ...call, url: to.href, method: becomesGet ? "GET" : call.method, body, headers: call.headers.filter(isKept) };
}

/** One try: the answer, after redirects. */
async function attempt(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const time = AbortSignal.timeout(call.timeout * 1000);
  const limit = AbortSignal.any([time, signal]);
  let now = call;
  try {
    for (let hop = 0; ; hop++) {
      const { method, url, body } = now;
      const headers = new Headers({ "user-agent": USER_AGENT, accept: "*/*" });
      const own = new Set<string>();
      for (const { name, value } of now.headers) {
        if (own.has(name.toLowerCase())) headers.append(name, value);
        else headers.set(name, value);
        own.add(name.toLowerCase());
      }
      const response = await guardedFetch(chosenReach())(url, { method, headers, signal: limit, ...(body && { body: body.text }) });
      const target = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get("location") : null;
      if (!call.follow_redirects || target === null) {
        const { bytes, isCut } = await readUpTo(response, MOST_BYTES);
        if (isCut) throw new AnswerTooLong(MOST_BYTES);
        return {
          status: response.status,
          headers: headersOf(response),
          text: decoderOf(bytes, response.headers.get("content-type"), true).decode(bytes),
        };
      }
      await response.body?.cancel();
      if (hop >= MOST_REDIRECTS) throw new CallFailed(`${hostOf(call.url)} redirects more than ${MOST_REDIRECTS} times.`);
      const to = locationOf(target, url);
      if (!to) throw new CallFailed(`${hostOf(url)} redirects to an address that is none.`);
      now = redirected(now, url, to, response.status);
    }
  } catch (error) {
    signal.throwIfAborted();
    const seconds = `${call.timeout} ${call.timeout === 1 ? "second" : "seconds"}`;
    if (time.aborted) throw new CallFailed(`${hostOf(now.url)} did not answer within ${seconds}.`);
    throw failureOf(error, now.url);
  }
}

/** How long to wait before the next try, in milliseconds: what the server says, else half a second that doubles. */
function pauseBefore(next: number, answer: HttpAnswer | undefined): number {
  const told = answer && [answer.headers["retry-after"]].flat()[0];
  const seconds = told === undefined ? Number.NaN : Number(told);
  const until = told === undefined ? Number.NaN : Date.parse(told);
  if (!Number.isNaN(seconds)) return Math.max(0, seconds * 1000);
  if (!Number.isNaN(until)) return Math.max(0, until - Date.now());
  return 500 * 2 ** (next - 1) * (0.75 + Math.random() / 2);
}

/**
 * Makes a call: again after a broken connection, 408, 429 and 5xx, as often as it may; the last answer counts.
 * @throws Error with a sentence when there is no answer; the signal's reason
 */
export const callHttp: EngineServices["callHttp"] = async (call, signal, onAttempt) => {
  const attempts = new CallAttempts(onAttempt);
  for (let tries = 1; ; tries++) {
    attempts.start();
    let answer: HttpAnswer | undefined;
    let broken: LineBroke | undefined;
    try {
      answer = await attempt(call, signal);
    } catch (error) {
      if (!(error instanceof LineBroke)) {
        if (!signal.aborted) attempts.end(messageOf(error));
        throw error;
      }
      broken = error;
    }
    const isOver = tries > call.retries || (answer !== undefined && !isPassing(answer.status));
    const ms = isOver ? 0 : pauseBefore(tries, answer);
    const failure = answer && !isPassing(answer.status) ? null : (broken?.message ?? `The server answered ${answer?.status}.`);
    if (isOver || ms > LONGEST_PAUSE_MS) {
      attempts.end(failure);
      if (answer) return answer;
      throw broken ?? new Error("There was no answer.");
    }
    attempts.repeat(failure ?? "");
    await pause(ms, undefined, { signal });
  }
};
