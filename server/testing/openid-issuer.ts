import { createHash, createSign, generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { listen } from "#e2e/fakes/listen.ts";

export interface OpenIdIssuer {
  url: string;
  /** Signs somebody in at the issuer, as its own page would, and returns the query for our callback. */
  approve(authorizationUrl: string, claims: Record<string, unknown>): URLSearchParams;
  stop(): Promise<void>;
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return new URLSearchParams(Buffer.concat(parts).toString());
}

/** A real OpenID issuer over HTTP with one client: discovery, keys, and tokens for the right code and PKCE verifier. */
export async function startOpenIdIssuer(client: { id: string; secret: string }): Promise<OpenIdIssuer> {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const grants = new Map<string, { challenge: string; nonce: string; claims: Record<string, unknown> }>();
  const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString("base64")}`;
  let url = "";

  function idToken(nonce: string, claims: Record<string, unknown>): string {
    const now = Math.floor(Date.now() / 1000);
    const body = { iss: url, aud: client.id, iat: now, exp: now + 60, nonce, ...claims };
    const text = `${base64({ alg: "RS256", kid: "1" })}.${base64(body)}`;
    return `${text}.${createSign("RSA-SHA256").update(text).sign(keys.privateKey, "base64url")}`;
  }

  const server = createServer(async (request, response) => {
    const json = (body: object, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/.well-known/openid-configuration") {
      return json({ issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, jwks_uri: `${url}/keys` });
    }
    if (request.url === "/keys")
      return json({ keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }] });
    const form = await formOf(request);
    const grant = grants.get(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (request.headers.authorization !== basic || !grant || grant.challenge !== proof) return json({ error: "invalid_grant" }, 400);
    return json({ access_token: "access", token_type: "Bearer", id_token: idToken(grant.nonce, grant.claims) });
  });
  const listening = await listen(server);
  url = listening.url;

  return {
    url,
    approve(authorizationUrl, claims) {
      const asked = new URL(authorizationUrl).searchParams;
      const code = `code-${grants.size}`;
      grants.set(code, { challenge: asked.get("code_challenge") ?? "", nonce: asked.get("nonce") ?? "", claims });
      return new URLSearchParams({ code, state: asked.get("state") ?? "" });
    },
    stop: listening.stop,
  };
}
