import { headers } from "next/headers";

/** The address under which the reader reached this install, so that examples can be pasted as they are. */
export async function baseUrl(): Promise<string> {
  const sent = await headers();
  return `${sent.get("x-forwarded-proto") ?? "http"}://${sent.get("x-forwarded-host") ?? sent.get("host") ?? "localhost:3000"}`;
}
