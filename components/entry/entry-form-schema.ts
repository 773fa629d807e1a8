import { z } from "zod";
import { SignUpInput } from "#server/features/identity/schema.ts";
import { RequestPasswordResetInput, ResetPasswordInput } from "#server/features/security/schema.ts";

// An old password may break today's rules for a new one, so only its presence is asked for.
export const SignInForm = SignUpInput.pick({ email: true }).extend({
  password: z.string().min(1, "Enter your password.").meta({ title: "Password" }),
  code: z.string().max(100).optional(),
});
export const SignUpForm = SignUpInput;
export const RequestResetForm = RequestPasswordResetInput;
export const ResetForm = ResetPasswordInput.pick({ password: true, end_api_keys: true });
/** By the link of an invitation: with a new account, or with the signed-in one. */
export const JoinAsNewForm = SignUpInput.pick({ name: true, password: true });
export const JoinForm = z.object({});
