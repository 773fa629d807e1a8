import { passwordMark } from "#server/auth/session.ts";
import { countPasswordTry, forgetPasswordTries } from "#server/auth/sign-in-throttle.ts";
import { db } from "#server/db/client.ts";
import { hashPassword, isPassword } from "#server/secrets.ts";

let nobody: Promise<string> | undefined;

/**
 * The user with this address and password, with the mark of that password, or null. An unknown address takes as long as a wrong password.
 * @param address of the client, for the throttle
 * @throws AppError RATE_LIMIT_EXCEEDED after too many tries
 */
export async function signInWithPassword(
  email: string,
  password: string,
  address: string,
): Promise<{ id: string; email: string; name: string; password_mark: string } | null> {
  await countPasswordTry(email, address);
  const user = await db().user.findUnique({ where: { email: email.toLowerCase() } });
  nobody ??= hashPassword("the password of nobody");
  const isRight = await isPassword(user?.password_hash ?? (await nobody), password);
  if (!user?.password_hash || !isRight) return null;
  await forgetPasswordTries(email, address);
  return { id: user.id, email: user.email, name: user.name, password_mark: passwordMark(user.password_hash) };
}
