document.querySelectorAll('.contents table').forEach(table => table.classList.add('is-striped'))
