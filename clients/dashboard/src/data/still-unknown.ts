/**
 * A wish whose outcome is open was sent again, and nobody looked at it: its outcome is as open as before. The cause says
 * why it was not looked at.
 */
export class StillUnknown extends Error {}
