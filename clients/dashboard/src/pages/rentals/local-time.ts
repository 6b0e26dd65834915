import { readWritten } from '@gpu-rental/client';

/** An instant as a field of day and time shows it, by the clock of this place: “2026-11-22T14:05”. */
export function toLocalField(iso: string): string {
  const at = new Date(iso);
  const pad = (part: number): string => part.toString().padStart(2, '0');
  const day = `${at.getFullYear().toString().padStart(4, '0')}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** Reads what such a field holds. @returns the instant; undefined for what is none */
export function fromLocalField(text: string): string | undefined {
  return text.includes('T') ? readWritten(text)?.toISOString() : undefined;
}
