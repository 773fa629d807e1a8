import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NONCE_HEADER } from "#server/platform/auth/request-origin.ts";

/** The policy of answers that are no pages: whatever a browser makes of one, nothing in it runs, loads or is framed. */
export const BARE_POLICY = "default-src 'none'; frame-ancestors 'none'";

/**
 * The policy of one page: only scripts and styles that carry its nonce, what those load, and nothing from elsewhere. A `style`
 * attribute stays allowed, since the server draws with them.
 */
function pagePolicy(nonce: string, isDev: boolean): string {
  // During development React builds functions from texts, and Next's own overlay brings styles without a nonce.
  const [scripts, styles] = isDev ? [" 'unsafe-eval'", "'unsafe-inline'"] : ["", `'nonce-${nonce}'`];
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'${scripts}`,
    `style-src 'self' ${styles}`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:", // our own style sheet has drawings in it
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
  ].join("; ");
}

/**
 * Gives a page a policy with a nonce of its own, to the browser and, in the request's headers, to Next, which puts the nonce on the
 * scripts of the page. Answers that are no pages keep the policy they have.
 */
export function setPagePolicy(request: IncomingMessage, response: ServerResponse, isDev: boolean): void {
  if (/^\/(api|_next)\//.test(request.url ?? "")) return;
  const nonce = randomBytes(18).toString("base64");
  const policy = pagePolicy(nonce, isDev);
  request.headers["content-security-policy"] = policy;
  request.headers[NONCE_HEADER] = nonce;
  response.setHeader("content-security-policy", policy);
}
