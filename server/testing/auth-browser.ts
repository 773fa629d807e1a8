import NextAuth from "next-auth";
import { authOptions } from "#server/features/identity/auth-options.ts";

interface Answer {
  status: number;
  /** Where the answer leads, whether by redirect or as `{url}`. */
  url: string;
  data: Record<string, unknown>;
}

/**
 * A browser that speaks to /api/auth only, in process: it keeps cookies and follows nothing by itself.
 * @param kept cookies that it begins with
 */
export function authBrowser(headers: Record<string, string> = {}, kept: ReadonlyMap<string, string> = new Map()) {
  const cookies = new Map(kept);

  async function send(method: string, path: string, body: Record<string, string> = {}): Promise<Answer> {
    const { pathname, searchParams } = new URL(path, "http://localhost");
    const set: string[] = [];
    const answer: Answer = { status: 200, url: "", data: {} };
    const response = {
      getHeader: () => set,
      setHeader: (name: string, value: string) => {
        if (name === "Location") answer.url = value;
        return response;
      },
      status: (status: number) => {
        answer.status = status;
        return response;
      },
      json: (data: Record<string, unknown>) => Object.assign(answer, { data, url: String(data.url ?? "") }),
      send: (data: unknown) => Object.assign(answer, { data: data as Record<string, unknown> }),
      end: () => undefined,
    };
    const query = { ...Object.fromEntries(searchParams), nextauth: pathname.slice(1).split("/") };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = { host: "localhost:4000", ...(cookie && { cookie }), ...headers };
    const request = { method, query, body, cookies: Object.fromEntries(cookies), headers: sent };
    await NextAuth(request as never, response as never, authOptions(new Headers(request.headers)));
    for (const [name, value, isGone] of set.map(readCookie)) {
      if (isGone) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  }

  return {
    get: (path: string) => send("GET", path),
    /** Posts a form with the token against forged ones. */
    async post(path: string, form: Record<string, string> = {}): Promise<Answer> {
      const { data } = await send("GET", "/csrf");
      return send("POST", path, { csrfToken: String(data.csrfToken), json: "true", ...form });
    },
    cookies: (): ReadonlyMap<string, string> => cookies,
    /** What the browser sends along to every page. */
    cookieHeader: () => new Headers({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
  };
}

function readCookie(text: string): [name: string, value: string, isGone: boolean] {
  const [pair = "", ...attributes] = text.split("; ");
  const at = pair.indexOf("=");
  const expires = attributes.find((attribute) => attribute.startsWith("Expires="))?.slice(8);
  const isGone = attributes.includes("Max-Age=0") || (expires !== undefined && Date.parse(expires) < Date.now());
  return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1)), isGone];
}
