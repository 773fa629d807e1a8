import type { Metadata } from "next";
import { NotificationSettings } from "#components/settings/notification-settings.tsx";

export const metadata: Metadata = { title: "Notifications" };

export default NotificationSettings;
