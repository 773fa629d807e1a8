import { noteCall } from "#server/jobs/contact.ts";

/** Takes note of how a call of the Inngest server was answered, so that people can see whether it gets through. */
export async function noteInngestCall(request: Request, answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  noteCall(request.headers.get("x-inngest-signature"), response.status);
  return response;
}
