import { signOut } from "next-auth/react";
import { toast } from "sonner";

/** Ends the session in this browser and opens the sign-in page. */
export async function leave(): Promise<void> {
  try {
    await signOut({ callbackUrl: "/sign-in" });
  } catch {
    toast.error("You are still signed in", { description: "The service cannot be reached. Check your connection and try again." });
  }
}
