/**
 * Opens a session in this browser.
 * @param code of the authenticator app, or a recovery code
 * @returns `code` when one is asked for, or what went wrong, as a sentence to show
 */
export async function signInWithPassword(email: string, password: string, code?: string): Promise<"in" | "code" | { problem: string }> {
  const result = await import("next-auth/react")
    .then(({ signIn }) => signIn("credentials", { email, password, redirect: false, ...(code && { code }) }))
    .catch(() => undefined);
  if (result?.ok && !result.error) return "in";
  if (!result) return { problem: "The service cannot be reached. Check your connection and try again." };
  if (result.error === "SecondFactor") return "code";
  // A code word is next-auth's own; a sentence is ours, from the server.
  return { problem: result.error?.includes(" ") ? result.error : "E-mail and password do not match. Check both and try again." };
}
