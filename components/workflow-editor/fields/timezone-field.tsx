"use client";

import { useMemo } from "react";
import { Button } from "#components/ui/button.tsx";
import { Combobox } from "#components/ui/combobox.tsx";

/** `+01:00` for a zone as it stands today. */
function offsetOf(timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts();
  return parts.find(({ type }) => type === "timeZoneName")?.value.replace("GMT", "UTC") ?? "";
}

/** The IANA time zone of this browser; undefined where it does not tell. */
export const ownTimezone = (): string | undefined => Intl.DateTimeFormat().resolvedOptions().timeZone || undefined;

let zones: { value: string; label: string }[] | undefined;
/** Every zone that this browser knows, with today's offset; UTC first. */
const allZones = () => {
  zones ??= ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")].map((value) => ({
    value,
    label: offsetOf(value),
  }));
  return zones;
};

export interface TimezoneFieldProps {
  value: string;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}

/** An IANA time zone: typed, searched in the list, or that of this browser. */
export function TimezoneField({ value, isReadOnly, onChange }: TimezoneFieldProps) {
  const options = useMemo(allZones, []);
  const own = ownTimezone();
  return (
    <div className="flex flex-col items-start gap-1">
      <Combobox
        value={value}
        options={options}
        disabled={isReadOnly}
        placeholder="UTC"
        className="w-full"
        footer="Type to search all zones"
        onValueChange={onChange}
      />
      {!isReadOnly && own && own !== value && (
        <Button size="sm" variant="ghost" className="-ml-2.5" onClick={() => onChange(own)}>
          Use mine: {own}
        </Button>
      )}
    </div>
  );
}
