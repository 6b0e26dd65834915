// Runs before the first paint, so that a chosen theme does not flash the other one.
const { dataset } = document.documentElement;
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'dark' || theme === 'light') dataset.theme = theme;
  // Whoever was not signed in comes to the sign-in: its outline is painted, and not that of the pages.
  if (location.pathname === '/login' || !localStorage.getItem('signed-in')) dataset.first = 'sign-in';
} catch {
  // Without storage the system's choice counts.
}
