import { z } from "zod";

/** State of an address in a project. `unconfirmed`: one email was sent, and no other is until its person confirms. */
export const EmailState = z.enum(["open", "unconfirmed", "stopped"]);
export type EmailState = z.infer<typeof EmailState>;
