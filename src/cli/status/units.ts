/** Formats of amounts for operators. */

/** Formats a duration: 4 s, 12 min, 3 h 5 min, 2 d 4 h. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a size: 512 MB, 12.3 GB. */
export function bytesText(bytes: number): string {
  const megabytes = bytes / 1024 ** 2;
  return megabytes < 10_000 ? `${Math.round(megabytes)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}
