/** Bytes in hexadecimal, in a box that can be scrolled, also by keyboard. */
export function Bytes({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="bytes" tabIndex={0} aria-label="Bytes">
      {text}
    </section>
  );
}
