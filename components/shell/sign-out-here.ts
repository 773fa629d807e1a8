import { finishBeforeSignOut } from "#components/shell/before-sign-out.ts";
import { toast } from "#components/ui/toaster.tsx";

/** Ends the session in this browser and opens `next`, a path of this site. */
export async function signOutHere(next = "/sign-in"): Promise<void> {
  try {
    // Loaded on use: no page needs it to render.
    const [{ signOut }] = await Promise.all([import("next-auth/react"), finishBeforeSignOut()]);
    await signOut({ callbackUrl: next });
  } catch {
    toast.error("You are still signed in", { description: "The service cannot be reached. Check your connection and try again." });
  }
}
