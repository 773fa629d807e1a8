import { useEffect, useState } from "react";

interface SignInService {
  id: string;
  name: string;
}

/** The services through which people sign in here; none until they are known. */
export function useSignInServices(): SignInService[] {
  const [services, setServices] = useState<SignInService[]>([]);
  useEffect(() => {
    import("next-auth/react")
      .then(({ getProviders }) => getProviders())
      .then(
        (providers) => setServices(Object.values(providers ?? {}).filter(({ id }) => id !== "credentials")),
        () => setServices([]),
      );
  }, []);
  return services;
}

/** Leaves for a service, which sends the browser back. @param next path to go on to afterwards */
export async function leaveForService(id: string, next: string): Promise<void> {
  const { signIn } = await import("next-auth/react");
  await signIn(id, { callbackUrl: next });
}
