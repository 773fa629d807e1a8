import { KEPT_CHARACTERS } from "#server/services/webhooks/accept-delivery.ts";

/** Whether a delivery's body was kept, and whole. */
export const canReplay = (body: string | null): boolean => body !== null && body.length <= KEPT_CHARACTERS;
