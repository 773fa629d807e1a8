import { hash } from "@node-rs/argon2";

/**
 * A password as the product stores it, for a hundredth of the time: for people whom tests make in the database. To check one takes its
 * cost from what is stored. The real cost is tried by sign-up, by invitations and in platform/secrets.test.ts.
 */
export const quickHash = (password: string): Promise<string> => hash(password, { memoryCost: 64, timeCost: 1 });
