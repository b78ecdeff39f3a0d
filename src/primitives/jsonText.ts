export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;

/** Position after the closing quote of the JSON string that opens at `start`. */
export function endOfString(json: string, start: number): number {
  for (let index = start + 1; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === BACKSLASH) index++;
    else if (code === QUOTE) return index + 1;
  }
  return json.length;
}
