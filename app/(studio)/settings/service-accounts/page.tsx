import type { Metadata } from "next";
import { ServiceAccountsSettings } from "#components/settings/service-accounts-settings.tsx";

export const metadata: Metadata = { title: "Service accounts" };

export default ServiceAccountsSettings;
