import { appUrl } from "#server/settings.ts";

/** The address that a sender posts to. */
export const webhookUrl = (workflow_id: string): string => `${appUrl()}/api/v1/webhooks/${workflow_id}`;
