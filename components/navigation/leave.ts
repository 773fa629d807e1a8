import { toast } from "sonner";

/** Ends the session in this browser and opens the sign-in page. */
export async function leave(): Promise<void> {
  try {
    // Loaded when it is used: no page needs it to be drawn.
    const { signOut } = await import("next-auth/react");
    await signOut({ callbackUrl: "/sign-in" });
  } catch {
    toast.error("You are still signed in", { description: "The service cannot be reached. Check your connection and try again." });
  }
}
