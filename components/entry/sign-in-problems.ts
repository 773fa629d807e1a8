import type { SignInProblem } from "#server/features/identity/schema.ts";

const SENTENCES: Record<SignInProblem, string> = {
  AccessDenied: "There is no account for your address here, and it was not invited. Ask an admin of a project for an invitation.",
  AccountAsksForCode:
    "This account uses two-factor authentication, so an address alone does not open it. Sign in with your password and a code, then connect the service under Settings, Security.",
  Cancelled: "The sign-in was cancelled, or the service did not let you in. Try again, or sign in with your password.",
  NoAddress: "The sign-in service gave no email address. Add one to your account there, or let the service show it, then try again.",
  NotVerified: "The sign-in service has not verified your email address. Verify it there, then try again.",
  OAuthCallback: "The sign-in was completed before, took longer than 15 minutes, or the service refused it. Start it again.",
  OAuthSignin: "The sign-in service cannot be reached. Try again in a few minutes, or sign in with your password.",
  OtherIdentity:
    "The account of this address belongs to another identity at the sign-in service. Sign in with your password and connect the service again under Settings, Security. Without a password, ask an install admin for a link that sets one.",
  ServiceFailed:
    "The sign-in service answered with an error. Try again. If it happens again, tell an install admin: the log has the reason.",
  Unfinished: "Signing in does not work at the moment. Nothing was changed. Try again in a few minutes.",
  UnusableAddress:
    "The sign-in service gave an email address that cannot be used here. It needs letters of the English alphabet and a host with a dot, such as ada@example.com. Ask an admin there to change it.",
};

/** Sentence for an error code in the URL of the sign-in page. Text from the URL is never shown, since any page can link to it. */
export const signInProblem = (code: string): string =>
  Object.entries(SENTENCES).find(([known]) => known === code)?.[1] ?? "Signing in did not succeed. Try again.";
