import type { ProviderIdentity } from "#server/features/identity/provider-identity.ts";

/** A person of this verified address, as a sign-in service identifies them. */
export const identityOf = (address: string, name = "Sam", subject = address): ProviderIdentity => ({
  issuer: "https://id.example.com",
  subject,
  email: { address },
  name,
});
