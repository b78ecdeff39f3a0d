/** A small picture of an address by which an account is recognised: five by five cells, mirrored, in its colour. */
export function AccountMark({ address }: { readonly address: string }) {
  const digits = address.slice(2).toLowerCase();
  const hue = hueOf(address);
  const cells = Array.from({ length: 15 }, (_, index) => index).filter(
    (index) => Number.parseInt(digits[index + 12] ?? "0", 16) % 2 === 1,
  );
  return (
    <svg class="mark" viewBox="0 0 5 5" aria-hidden="true" style={{ "--hue": String(hue) }}>
      {cells.flatMap((index) => {
        const column = Math.floor(index / 5);
        const row = index % 5;
        const columns = column === 2 ? [2] : [column, 4 - column];
        return columns.map((x) => <rect key={`${x}.${row}`} x={x} y={row} width="1.02" height="1.02" />);
      })}
    </svg>
  );
}

/** The hue of an address in degrees. */
function hueOf(address: string): number {
  return Number.parseInt(address.slice(2, 8), 16) % 360;
}
