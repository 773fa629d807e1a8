import { signIn } from "next-auth/react";

/**
 * Opens a session in this browser.
 * @returns what went wrong, as a sentence to show; null when it worked
 */
export async function signInWithPassword(email: string, password: string): Promise<string | null> {
  const result = await signIn("credentials", { email, password, redirect: false }).catch(() => undefined);
  if (result?.ok && !result.error) return null;
  if (!result) return "The service cannot be reached. Check your connection and try again.";
  // A code word is next-auth's own; a sentence is ours, from the server.
  return result.error?.includes(" ") ? result.error : "E-mail and password do not match. Check both and try again.";
}
