/** Too many requests wait for the main thread, or the remote host has as many as its share. */
export class TooManyRequests extends Error {
  override name = "TooManyRequests";
}
