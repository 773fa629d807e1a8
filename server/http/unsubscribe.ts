import { changeLinkedEmails } from "#server/features/emails/links.ts";
import { errorResponse } from "#server/http/messages/respond.ts";
import { recipientPage } from "#server/platform/mail/recipients.ts";
import { appErrorOf } from "#server/platform/rpc/trpc.ts";

type Context = { params: { token: string } };

/** Leads a person who opens the address of List-Unsubscribe to the page with the choices. */
export const unsubscribePage = async (_request: Request, { params: { token } }: Context): Promise<Response> =>
  new Response(null, { status: 303, headers: { location: recipientPage(encodeURIComponent(token)), "cache-control": "no-store" } });

/** Stops the emails of a project, as mail programs ask for it with one click (RFC 8058): without a session, and whatever the body says. */
export const unsubscribe = async (_request: Request, { params: { token } }: Context): Promise<Response> =>
  changeLinkedEmails({ token, choice: "stop" }).then(
    () => new Response("No further emails are sent.\n", { headers: { "content-type": "text/plain", "cache-control": "no-store" } }),
    (error: unknown) => errorResponse(appErrorOf(error)),
  );
