/** What we use of the package, which brings no types. */
declare module "snappyjs" {
  export function compress(bytes: Uint8Array): Uint8Array;
}
