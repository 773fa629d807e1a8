"use client";

import { useQuery } from "@tanstack/react-query";
import { Monitor, Moon, Sun } from "lucide-react";
import { useRouter } from "next/navigation";
import { RadioGroup } from "radix-ui";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { DeleteAccount } from "#components/settings/delete-account.tsx";
import { earlierProjectsForm, formatForm, nameForm } from "#components/settings/settings-form.gen.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { type ThemeChoice, useTheme } from "#components/shell/use-theme.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Combobox } from "#components/ui/combobox.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";

export function ProfileSettings() {
  return (
    <>
      <NameForm />
      <FormatForm />
      <ThemeChooser />
      <EarlierProjects />
      <DeleteAccount />
    </>
  );
}

function NameForm() {
  const client = useTRPCClient();
  const router = useRouter();
  const { user } = useStudio();
  const form = useForm({
    schema: nameForm,
    initial: { name: user.name },
    submit: async (value) => {
      await client.identity.updateProfile.mutate(value);
      toast.success("Name saved");
      router.refresh();
    },
  });
  return (
    <SettingsSection title="Profile">
      <Form form={form}>
        <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
        <FormField form={form} name="name" hint={null} autoComplete="name" />
        <Field label="E-mail">
          <Input value={user.email} readOnly />
        </Field>
        <FormSubmit form={form} variant="primary" disabled={!form.isDirty} className="self-start">
          Save
        </FormSubmit>
      </Form>
    </SettingsSection>
  );
}

/** Ways of writing dates and numbers, each told by what it makes of the same moment and number. */
const LOCALES = ["en-GB", "en-US", "de-DE", "de-CH", "fr-FR", "es-ES", "it-IT", "nl-NL", "pt-BR", "pl-PL", "sv-SE", "ja-JP"] as const;
const EXAMPLE = new Date("2026-11-21T14:05:00Z");
const AS_USUAL = "usual";

const exampleOf = (locale: string): string =>
  `${EXAMPLE.toLocaleString(locale, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC" })} · ${(12480.5).toLocaleString(locale)}`;
const localeName = (locale: string): string => new Intl.DisplayNames("en", { type: "language" }).of(locale) ?? locale;

/** In which zone and how times and numbers are written. The words of the app are English. */
function FormatForm() {
  const trpc = useTRPC();
  const profile = useQuery(trpc.identity.profile.queryOptions({}));
  return (
    <SettingsSection title="Times and numbers" description="For everything that this app shows you. Its words are English.">
      <LoadFailure query={profile} />
      {profile.isPending && <Skeleton className="h-40" />}
      {profile.data && <FormatFields {...profile.data} />}
    </SettingsSection>
  );
}

function FormatFields({ time_zone, locale }: { time_zone: string | null; locale: string | null }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: formatForm,
    initial: { time_zone, locale },
    submit: async (value) => {
      await client.identity.updateProfile.mutate(value);
      // Everything that was written stands in the old way.
      location.reload();
      await new Promise(() => {});
    },
  });
  const chosen = form.values.locale ?? null;
  const known = chosen === null || LOCALES.some((one) => one === chosen) ? LOCALES : [...LOCALES, chosen];
  return (
    <Form form={form}>
      <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
      <FormField form={form} name="time_zone" hint="Left empty: that of the browser you look with.">
        <Combobox
          value={form.values.time_zone ?? ""}
          onValueChange={(zone) => form.set("time_zone", zone === "" ? null : zone)}
          options={Intl.supportedValuesOf("timeZone").map((value) => ({ value }))}
          placeholder={`As this browser: ${Intl.DateTimeFormat().resolvedOptions().timeZone}`}
        />
      </FormField>
      <FormField form={form} name="locale" hint={null}>
        <Select
          value={chosen ?? AS_USUAL}
          onValueChange={(value) => form.set("locale", value === AS_USUAL ? null : value)}
          options={[
            { value: AS_USUAL, label: "As usual", description: `${exampleOf("en-GB")}` },
            ...known.map((value) => ({ value, label: localeName(value), description: exampleOf(value) })),
          ]}
        />
      </FormField>
      <FormSubmit form={form} disabled={!form.isDirty} className="self-start">
        Save
      </FormSubmit>
    </Form>
  );
}

const themes: readonly { value: ThemeChoice; label: string; icon: typeof Sun }[] = [
  { value: "system", label: "System", icon: Monitor },
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
];

function ThemeChooser() {
  const [theme, setTheme] = useTheme();
  return (
    <SettingsSection title="Theme" description="Kept in this browser.">
      <RadioGroup.Root value={theme} onValueChange={(value) => setTheme(value as ThemeChoice)} aria-label="Theme" className="flex gap-2">
        {themes.map(({ value, label, icon: Icon }) => (
          <RadioGroup.Item
            key={value}
            value={value}
            className="flex h-9 items-center gap-2 rounded-md pointer-coarse:h-11 border border-line-control bg-raised px-3 text-14 text-ink-soft hover:text-ink data-[state=checked]:border-thread data-[state=checked]:bg-thread-soft data-[state=checked]:font-semibold data-[state=checked]:text-ink"
          >
            <Icon aria-hidden className="size-3.5" />
            {label}
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </SettingsSection>
  );
}

/** For an account that got a new password through an invitation: its projects from before wait for the password that it had then. */
function EarlierProjects() {
  const trpc = useTRPC();
  const own = useQuery(trpc.identity.invitations.queryOptions({}, { staleTime: 60_000 }));
  return own.data?.has_earlier ? <EarlierProjectsForm /> : null;
}

function EarlierProjectsForm() {
  const client = useTRPCClient();
  const { user } = useStudio();
  const form = useForm({
    schema: earlierProjectsForm,
    initial: { password: "" },
    submit: async (value) => {
      const { projects } = await client.identity.resumeMemberships.mutate(value);
      toast.success(`You are in ${projects.join(", ")} again`);
      location.reload();
    },
  });
  return (
    <SettingsSection
      title="Projects from before"
      description="This account got its password through an invitation. The projects that it was in before that wait for the password it had then."
    >
      <Form form={form}>
        <input type="email" name="username" autoComplete="username" value={user.email} readOnly hidden />
        <FormField form={form} name="password" hint={null} type="password" autoComplete="off" />
        <FormSubmit form={form} className="self-start">
          Open them again
        </FormSubmit>
      </Form>
    </SettingsSection>
  );
}
