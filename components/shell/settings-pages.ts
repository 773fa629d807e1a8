interface SettingsPage {
  href: string;
  label: string;
  /** What else it may be looked for by. */
  words?: string;
}

export const personalSettings: readonly SettingsPage[] = [
  { href: "/settings/profile", label: "Profile", words: "account name language time zone" },
  { href: "/settings/security", label: "Security", words: "password two-factor authentication second factor 2fa totp" },
  { href: "/settings/sessions", label: "Sessions", words: "devices sign out" },
  { href: "/settings/notifications", label: "Notifications", words: "mail" },
  { href: "/settings/api-keys", label: "API keys", words: "tokens" },
];
export const projectSettings: readonly SettingsPage[] = [
  { href: "/settings/project", label: "Project", words: "general slug assistant" },
  { href: "/settings/members", label: "Members", words: "people roles invitations" },
  { href: "/settings/limits", label: "Limits" },
  { href: "/settings/usage", label: "Usage", words: "costs tokens" },
  { href: "/settings/budgets", label: "Budgets", words: "costs spending prices" },
  { href: "/settings/credentials", label: "Credentials", words: "secrets" },
  { href: "/settings/service-accounts", label: "Service accounts", words: "keys" },
  { href: "/settings/audit", label: "Audit log", words: "history" },
];
export const installSettings: readonly SettingsPage[] = [{ href: "/settings/install", label: "Install", words: "server admin" }];
