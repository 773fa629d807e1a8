import { z } from "zod";
import { SignUpInput } from "#server/features/identity/schema.ts";
import { RequestPasswordResetInput, ResetPasswordInput } from "#server/features/security/schema.ts";

// An old password may break today's rules for a new one, so only its presence is asked for.
const known = {
  password: z.string().min(1, "Enter your password.").meta({ title: "Password" }),
  code: z.string().max(100).optional(),
};
export const SignInForm = SignUpInput.pick({ email: true }).extend(known);
export const SignUpForm = SignUpInput;
export const RequestResetForm = RequestPasswordResetInput;
export const ResetForm = ResetPasswordInput.pick({ password: true, end_api_keys: true });
/** By the link of an invitation: a new account, one that the address has, or the one that is signed in. */
export const JoinAsNewForm = SignUpInput.pick({ name: true, password: true });
export const JoinByPasswordForm = z.object(known);
export const JoinForm = z.object({});
