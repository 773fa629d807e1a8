import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { onTestFinished } from "vitest";

// Certificates of tests, valid from 2020 to 2126. The key of the authority was not kept.

/** Certificate of a private authority. */
export const TEST_AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBVzCB/aADAgECAgEBMAoGCCqGSM49BAMCMBIxEDAOBgNVBAMMB1Rlc3QgQ0Ew
IBcNMjAwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMBIxEDAOBgNVBAMMB1Rl
c3QgQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASAjVgj2rBpnYTGTHDf3xZ9
AaLLph/fimfAvd3vsbztPWuJGOI4+jserSgagcqOdfPtMFr3+CJ+ZSgSS50F2LvB
o0IwQDAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAdBgNVHQ4EFgQU
Yk4xHqzEjmrH6ExMswSdraPjJ0MwCgYIKoZIzj0EAwIDSQAwRgIhAMHCCuCeNpNR
qmUkLHLWBWIqgWofnVvGTgWW/fZQM1jCAiEAjb4wiTkoI6ozGGovNa9ZNVj+RTH6
uBg/VrJZNcoAbBM=
-----END CERTIFICATE-----
`;

/** Key and certificate of a server named target.example, localhost or 127.0.0.1, signed by that authority. */
export const TEST_SERVER = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+n2XP/8MgbthvnNl
HLpdAtCnaHJfohHApghQyQB+sBahRANCAAR+Bx4E3ADqyjzQLawaoFuBLB4Wy89z
paKQArHmouJO+Vka9I/kcdi9m8kgzMEFOXaBRRptPcX2SoWk30bzBrDR
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIBAjAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdUZXN0IENB
MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAZMRcwFQYDVQQDDA50
YXJnZXQuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABH4HHgTcAOrK
PNAtrBqgW4EsHhbLz3OlopACseai4k75WRr0j+Rx2L2bySDMwQU5doFFGm09xfZK
haTfRvMGsNGjgYQwgYEwKgYDVR0RBCMwIYIOdGFyZ2V0LmV4YW1wbGWCCWxvY2Fs
aG9zdIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUP+6xz1cT
EGMCF6tanbivTgWh8/0wHwYDVR0jBBgwFoAUYk4xHqzEjmrH6ExMswSdraPjJ0Mw
CgYIKoZIzj0EAwIDSAAwRQIhAKJ+ulb504wNqk4Zn71wnjoXQ/CLlhynpCsJYLoH
D8YvAiAtFwqtg/P0BAqife775OlJeNp4k0lqfzG8KNQUCGbgWw==
-----END CERTIFICATE-----
`,
};

/** Trusts the private authority in this process until the test ends. */
export function trustTestAuthority(): void {
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, TEST_AUTHORITY]);
  onTestFinished(() => setDefaultCACertificates(trusted));
}
